/** Where mail is sent, as the settings say it. */
import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte (`smtps:`). Otherwise the connection is upgraded by STARTTLS, unless TLS is off. */
  isSecure: boolean;
  tls: (typeof TLS_MODES)[number];
  user?: string;
  password?: string;
}

export interface Mailbox {
  address: string;
  name?: string;
}

/** The key with which messages are signed for the domain of the sender (RFC 6376). */
export interface DkimKey {
  selector: string;
  /** PEM, of an RSA key. */
  privateKey: string;
}

export interface MailSettings {
  server: SmtpServer;
  from: Mailbox;
  dkim?: DkimKey;
}

const TLS_MODES = ['required', 'no-verify', 'off'] as const;
/** Letters of an address that need no quotes. Quoted local parts are allowed by the standard, and used by nobody. */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,189}$/u;
const ADDRESS_MAX = 254;

export const isMailAddress = (text: string) => text.length <= ADDRESS_MAX && ADDRESS.test(text);

/**
 * Reads an address like `smtp://user:password@mail.example.com:587`. TLS is required, because otherwise an attacker
 * on the network could turn it off and read the password and the messages. `?tls=off` says that the network is trusted,
 * and a server on this machine needs none.
 */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return undefined;
  }
  const isSecure = url.protocol === 'smtps:';
  if (!isSecure && url.protocol !== 'smtp:') return undefined;
  if (!url.hostname || !['', '/'].includes(url.pathname) || url.hash) return undefined;
  const { tls, ...others } = Object.fromEntries(url.searchParams);
  if (Object.keys(others).length) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const mode = tls === undefined ? defaultTls(host, isSecure) : TLS_MODES.find((known) => known === tls);
  if (!mode || (isSecure && mode === 'off')) return undefined;
  try {
    return {
      host,
      port: url.port ? Number(url.port) : isSecure ? 465 : 587,
      isSecure,
      tls: mode,
      ...(url.username && {
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
      }),
    };
  } catch {
    // A `%` that escapes nothing.
    return undefined;
  }
}

const defaultTls = (host: string, isSecure: boolean) =>
  !isSecure && isThisMachine(host) ? ('off' as const) : ('required' as const);

const isThisMachine = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Reads `reports@example.com` or `Example Reports <reports@example.com>`. */
export function parseMailbox(text: string): Mailbox | undefined {
  const [, name, address = text.trim()] = /^\s*(?:"?([^"<>]*?)"?\s*)<([^<>]*)>\s*$/.exec(text) ?? [];
  if (!isMailAddress(address) || /\p{Cc}/u.test(text)) return undefined;
  return name ? { address, name } : { address };
}

/** Whether messages can be signed with the key: the standard that every receiver knows is RSA. */
export function isDkimKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
