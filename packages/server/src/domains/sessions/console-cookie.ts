/** The cookie of a person who signed in by browser. */
import type { IncomingHttpHeaders } from 'node:http';
import { readCookie, setCookie } from '../../platform/http/cookies.ts';

export interface ConsoleCookie {
  name: string;
  read(headers: Pick<IncomingHttpHeaders, 'cookie'>): string | undefined;
  /** Both return a value for the header `Set-Cookie`. */
  set(token: string, maxAgeSeconds: number): string;
  clear(): string;
}

/** With TLS, the prefix makes browsers refuse a cookie of this name that another host or a page without TLS sets. */
export function createConsoleCookie(publicUrl: string): ConsoleCookie {
  const isSecure = /^https:/i.test(publicUrl);
  const name = isSecure ? '__Host-oriel' : 'oriel';
  return {
    name,
    read: ({ cookie }) => readCookie(cookie, name),
    set: (token, maxAgeSeconds) => setCookie(name, token, { maxAgeSeconds, isSecure }),
    clear: () => setCookie(name, '', { maxAgeSeconds: 0, isSecure }),
  };
}
