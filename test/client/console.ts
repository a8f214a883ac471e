/**
 * console.ts: setup code for the client tests: forwards what happy-dom logs to the running test.
 *
 * happy-dom logs each frame that it doesn't load to the process's console. Vitest gives tests a console of its own,
 * collects only the output of that console, and prints it only if the test fails.
 */

import processConsole from "node:console"

processConsole.error = (...values: unknown[]): void => console.error(...values)
