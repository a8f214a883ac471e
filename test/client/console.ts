/**
 * console.ts: set-up code of the client tests: forwards what happy-dom logs to the running test.
 *
 * happy-dom uses the process's console, where it logs each frame that it does not load. Vitest collects only the output
 * of its own console, which it passes to tests, and prints that output only if the test fails.
 */

import processConsole from "node:console"

processConsole.error = (...values: unknown[]): void => console.error(...values)
