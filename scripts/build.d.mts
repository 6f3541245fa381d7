/**
 * Builds the server, or another program that uses its code. The name is the name of the file in `dist`. Returns the files
 * of the engines, whose folder also holds those of earlier builds.
 */
export function build(entry?: string, name?: string): Promise<{ engineFiles: string[] }>;
/** Packages with native code, which npm installs beside the bundle; `*` stands for any ending. */
export const NOT_BUNDLED: string[];
