/** A browser without a screen: it keeps cookies by server, and follows redirects one by one. */
import { checkedFetch } from '../checked-fetch.ts';

export type TestBrowser = ReturnType<typeof createBrowser>;

/** The replies of servers other than `issuer` are checked against the contract. */
export function createBrowser(issuer: string) {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = ({ host }: URL) => {
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };

  async function get(address: string, headers: Record<string, string> = {}): Promise<Response> {
    const url = new URL(address);
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const send = url.origin === issuer ? fetch : checkedFetch;
    const response = await send(url, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html', ...headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';', 1)[0]!.split(/=(.*)/s) as [string, string];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until an address that begins with `end`, which is not opened, or until a page. */
  async function follow(
    address: string,
    { end, headers }: { end?: string; headers?: Record<string, string> } = {},
  ): Promise<{ address: string; response: Response | undefined }> {
    let at = address;
    for (let step = 0; step < 20; step++) {
      if (end && at.startsWith(end)) return { address: at, response: undefined };
      const response = await get(at, step === 0 ? headers : {});
      const location = response.headers.get('location');
      if (!location) return { address: at, response };
      at = new URL(location, at).href;
    }
    throw new Error(`too many redirects, the last one to ${at}`);
  }

  return { get, follow, cookies: (url: string) => jarOf(new URL(url)) };
}
