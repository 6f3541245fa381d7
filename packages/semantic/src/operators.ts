/** Which operators of filters compare times, and which ones parts of texts. */
export const OF_TIME = /Date/;
export const OF_TEXT = /contains|startsWith|endsWith/i;
