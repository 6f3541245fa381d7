/** Builds the server, or another program that uses its code. The name is the name of the file in `dist`. */
export function build(entry?: string, name?: string): Promise<void>;
