/** The picture of the viewer, or their initials if there is none that can be shown. */
import { useEffect, useState } from 'preact/hooks';
import type { Viewer } from './types.ts';

const BYTES_MAX = 1_000_000;
const PATIENCE_MS = 10_000;
/** SVG is left out: it is a document. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Fetched by this page, because its policy lets no element load pictures from elsewhere. */
async function fetchPicture(address: string, signal: AbortSignal): Promise<Blob | undefined> {
  if (!/^https:\/\//i.test(address)) return undefined;
  const { ok, headers, body } = await fetch(address, {
    mode: 'cors',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
  });
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
  const isUsable = ok && body && TYPES.includes(type);
  if (!isUsable) return void body?.cancel();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = body.getReader();
  for (let bytes = 0; ; ) {
    const { value, done } = await reader.read();
    if (done) return new Blob(parts, { type });
    bytes += value.length;
    if (bytes > BYTES_MAX) return void reader.cancel();
    parts.push(value);
  }
}

function usePicture(address: string | null): [string | undefined, () => void] {
  const [shown, setShown] = useState<string>();
  useEffect(() => {
    if (!address) return;
    const left = new AbortController();
    let made: string | undefined;
    fetchPicture(address, left.signal)
      .then((blob) => {
        if (!blob || left.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setShown(made);
      })
      .catch(() => {});
    return () => {
      left.abort();
      setShown(undefined);
      if (made) URL.revokeObjectURL(made);
    };
  }, [address]);
  return [shown, () => setShown(undefined)];
}

export function Avatar({ user }: { user: Viewer['user'] }) {
  const [picture, leaveOut] = usePicture(user.picture);
  const name = user.displayName || user.email || user.username;
  const initials = name
    .split(/[\s@._-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0]!.toUpperCase())
    .join('');
  return (
    <span class="avatar" role="img" aria-label={name} title={name}>
      {picture ? <img src={picture} alt="" onError={leaveOut} /> : initials}
    </span>
  );
}
