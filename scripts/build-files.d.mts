/** Writes a file atomically, because a server or an engine that starts may read it. */
export function place(folder: string, name: string, content: string | Uint8Array): Promise<void>;
/** Of the names and the contents of all files below some folders of the project, without tests, and of other files of it. */
export function hashInputs(folders: string[], others: string[]): Promise<string>;
