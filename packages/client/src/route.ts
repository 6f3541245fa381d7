/** A line about an operation, such as `POST /api/v1/things?first body=form reply=csv headers=x-a,x-b`. */
import type { BodyKind, ReplyKind } from '@oriel/contract';

export interface ClientRoute {
  method: string;
  path: string;
  query: string[];
  headers: string[];
  body: BodyKind['kind'];
  reply: ReplyKind['kind'];
}

/** This list cannot be read item by item: each page repeats the folders that its files are in. */
export const TREE = 'listFiles';

export function parseRoute(line: string): ClientRoute {
  const [method, address, ...rest] = line.split(' ') as [string, string, ...string[]];
  const [path, query] = address.split('?') as [string, string?];
  const said = Object.fromEntries(rest.map((option) => option.split('=') as [string, string]));
  return {
    method,
    path,
    query: query?.split('&') ?? [],
    headers: said.headers?.split(',') ?? [],
    body: (said.body ?? 'json') as ClientRoute['body'],
    reply: (said.reply ?? 'json') as ClientRoute['reply'],
  };
}
