/**
 * console.ts: setup of the client tests: forwards what happy-dom logs to the test that runs.
 *
 * happy-dom is created with the console of the process and logs each frame that it does not load there. Vitest collects
 * the output of its own console, and prints it if the test fails.
 */

import processConsole from "node:console"

processConsole.error = (...values: unknown[]): void => console.error(...values)
