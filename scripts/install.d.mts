/** The folder of the project. */
export const root: string;
/** Installs the npm packages unless they were installed since the lock file changed. */
export function install(): void;
/** Runs a command in the root folder. If it fails, this process fails too. */
export function run(command: string, args: string[], env?: NodeJS.ProcessEnv): void;
/** The path of a program that npm installed. */
export function bin(name: string): string;
export function fail(message: string): never;
