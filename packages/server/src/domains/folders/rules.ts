export const FOLDER_DEPTH_MAX = 32;

/** Whether something of the given height fits below a folder at that depth. The root has depth 0. */
export const fits = (parentDepth: number, height: number) => parentDepth + height <= FOLDER_DEPTH_MAX;

/** How names are compared and sorted, the same on every database. */
export const nameKey = (name: string) => name.toLowerCase();
