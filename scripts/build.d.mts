/**
 * Builds the server, the embedded page and what its hosts import, as far as anything has changed since the last build.
 * Returns the files of the engines, whose folder also holds those of earlier builds. Without `hasProgram`, the program of
 * the server is left out.
 */
export function build(options?: { hasProgram?: boolean }): Promise<{ engineFiles: string[] }>;
/** Builds another program that uses the server's code. The name is the name of the file in `dist`. */
export function buildProgram(entry: string, name: string): Promise<void>;
/** The folders and the other files that the server is made of. A change of them makes it anew. */
export const SOURCES: { folders: string[]; others: string[] };
/** Packages with native code, which npm installs beside the bundle; `*` stands for any ending. */
export const NOT_BUNDLED: string[];
