/**
 * Entity tags: they identify the state of a resource that the caller has read. A tag is the hash of the whole
 * representation for this caller, so it changes with everything that they see, including data around the resource.
 */
import { createHash } from 'node:crypto';
import { type Operation, takesIfNoneMatch } from '@oriel/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { tagWithoutEncoding } from './encodings.ts';

export interface Etag {
  /** The reply carries the tag of this state. A read whose `If-None-Match` names it is answered with a 304. */
  send(resource: object): void;
  /** Whether `require` compares anything, for resources whose state is expensive to read. */
  readonly isRequired: boolean;
  /**
   * Throws if `If-Match` or, in an upsert, `If-None-Match` asks for another state of the resource. Pass null if the
   * resource does not exist. The resource must be locked, or two writers could both pass.
   */
  require(resource: object | null): void;
}

/** The tag of this state of the resource, for replies that also hold it in their body. */
export const tagOf = (resource: object) =>
  `"${createHash('sha256').update(JSON.stringify(resource)).digest('base64url').slice(0, 22)}"`;

export const etagOf = (op: Operation, request: FastifyRequest, reply: FastifyReply): Etag => ({
  send(resource) {
    reply.header('etag', tagOf(resource)).header('cache-control', 'private, no-cache');
  },
  get isRequired() {
    return (
      request.headers['if-match'] !== undefined ||
      (takesIfNoneMatch(op) && request.headers['if-none-match'] !== undefined)
    );
  },
  require(resource) {
    const wanted = request.headers['if-match'];
    const unwanted = takesIfNoneMatch(op) ? request.headers['if-none-match'] : undefined;
    if (wanted === undefined && unwanted === undefined) return;
    const tag = resource && tagOf(resource);
    if (unwanted !== undefined && namesWeakly(unwanted, tag)) {
      throw new ApiError('precondition_failed', {
        message: 'It already exists, but `If-None-Match` requires that it does not.',
      });
    }
    if (wanted !== undefined && !names(wanted, tag)) {
      throw new ApiError(
        'precondition_failed',
        tag === null ? { message: 'It does not exist, but `If-Match` requires that it does.' } : {},
      );
    }
  },
});

/** Whether the caller of a read has the state already that the reply would show. */
export function isKnown(request: FastifyRequest, reply: FastifyReply): boolean {
  const { 'if-none-match': known } = request.headers;
  const tag = reply.getHeader('etag');
  if (known === undefined || tag === undefined || !namesWeakly(known, String(tag))) return false;
  // The reader's copy may have another encoding, and keeps its tag.
  const own = tagsIn(known).find((listed) => tagWithoutEncoding(listed) === tag);
  if (own) reply.header('etag', own);
  return true;
}

/** Whether a list of tags contains this one. A star matches any existing resource. */
const names = (list: string, tag: string | null) =>
  tag !== null && (list.trim() === '*' || tagsIn(list).some((listed) => tagWithoutEncoding(listed) === tag));

const tagsIn = (list: string) => list.split(',').map((listed) => listed.trim());

/** As `If-None-Match` compares: proxies that compress a reply mark its tag as weak, with `W/`. */
const namesWeakly = (list: string, tag: string | null) =>
  names(list.replaceAll(/(^|,)\s*W\//g, '$1'), tag?.replace(/^W\//, '') ?? null);
