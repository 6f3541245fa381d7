/** By default the server, else another program on top of its code. The name is that of the file in `dist`. */
export function build(entry?: string, name?: string): Promise<void>;
