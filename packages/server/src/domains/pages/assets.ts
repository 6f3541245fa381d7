/** The files that the pages use. Their names hold a hash of their content, so that browsers may keep them for ever. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** An oriel: a window that is built out from a wall. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3451c6"/><g fill="#fff"><path d="M12.6 7.5h6.8v7.2h-6.8zM12.6 16.3h6.8v7.2h-6.8z"/><path opacity=".65" d="M6.5 10.2l4.6-2.6v7.1H6.5zM6.5 16.3h4.6v7.1l-4.6-2.6zM25.5 10.2l-4.6-2.6v7.1h4.6zM25.5 16.3h-4.6v7.1l4.6-2.6z"/></g></svg>`;

type AssetType = 'text/css' | 'image/svg+xml';

const asset = (name: string, extension: string, contentType: AssetType, content: string | Buffer) => {
  const data = Buffer.from(content);
  const hash = createHash('sha256').update(data).digest('hex').slice(0, 16);
  return { file: `${name}-${hash}.${extension}`, contentType, data };
};

// The build puts the style beside the bundle.
export const style = asset('style', 'css', 'text/css', readFileSync(new URL('./style.css', import.meta.url)));
export const icon = asset('icon', 'svg', 'image/svg+xml', ICON);

export const assets = new Map([style, icon].map((each) => [each.file, each]));
