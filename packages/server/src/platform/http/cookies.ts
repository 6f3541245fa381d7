/** Reads and writes the cookies of our own pages. */

/** Returns the value of the cookie, as it was sent. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key, value] = part.trim().split(/=(.*)/s);
    if (key === name) return value;
  }
  return undefined;
}

export interface CookieOptions {
  /** 0 removes the cookie. */
  maxAgeSeconds: number;
  isSecure: boolean;
}

/** The header `Set-Cookie`. Scripts cannot read the cookie, and other sites cannot send it with a form. */
export const setCookie = (name: string, value: string, { maxAgeSeconds, isSecure }: CookieOptions) =>
  `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
