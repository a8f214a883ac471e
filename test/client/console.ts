/**
 * console.ts: setup of the client tests: forwards what happy-dom logs to the test that runs.
 *
 * happy-dom uses the console of the process, where it logs each frame that it does not load. Vitest collects the output
 * of its own console, and prints it only if the test fails.
 */

import processConsole from "node:console"

processConsole.error = (...values: unknown[]): void => console.error(...values)
