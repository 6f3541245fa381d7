/** The files of the embedded pages, read when a page is first asked for, and kept in memory. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Encoding } from '../../platform/http/encodings.ts';

const TYPES = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' } as const;

export interface PageFile {
  contentType: (typeof TYPES)[keyof typeof TYPES];
  data: Buffer;
  /** The compressed forms, as the build has written them. */
  encoded: Record<Encoding, Buffer>;
}

/** Names of files. `preload` holds what the first script imports at once. */
interface PageManifest {
  script: string;
  style: string;
  preload: string[];
  files: string[];
}

/** `inside` runs in frames of applications, and `notice` in pages that only say something. */
export interface Manifest extends PageManifest {
  inside: string;
  notice: string;
}

export interface AppManifest extends PageManifest {
  /** The addresses of its pages below the one of a deployment, such as `/workbooks/:workbookId`. */
  routes: string[];
  /** What else the pages at some of these addresses import. */
  preloadAt: Record<string, string[]>;
}

export interface Files<M extends PageManifest = Manifest> {
  manifest(): M;
  find(name: string): PageFile | undefined;
}

export function createFiles<M extends PageManifest>(folder: string): Files<M> {
  let loaded: { manifest: M; files: Map<string, PageFile> } | undefined;
  const load = () => {
    loaded ??= read<M>(folder);
    return loaded;
  };
  return {
    manifest: () => load().manifest,
    find: (name) => load().files.get(name),
  };
}

function read<M extends PageManifest>(folder: string) {
  const manifest: M = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const files = new Map(manifest.files.map((name) => [name, readPageFile(join(folder, name))]));
  return { manifest, files };
}

function readPageFile(path: string): PageFile {
  const data = readFileSync(path);
  const contentType = TYPES[path.split('.').at(-1) as keyof typeof TYPES];
  return { contentType, data, encoded: { br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`) } };
}
