export const FOLDER_DEPTH_MAX = 32;

/** Whether a tree of folders with this height fits below a folder at this depth. The root has depth 0. */
export const fits = (parentDepth: number, height: number) => parentDepth + height <= FOLDER_DEPTH_MAX;

/** The form in which names are compared and sorted, so that the order is the same on every database. */
export const nameKey = (name: string) => name.toLowerCase();
