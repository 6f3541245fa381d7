/**
 * Entity tags: they identify the state of a resource that the caller has read. A tag is the hash of the whole
 * representation for this caller, so it changes with everything that they see, including data around the resource.
 */
import { createHash } from 'node:crypto';
import { type Operation, takesIfNoneMatch } from '@oriel/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';

export interface Etag {
  send(resource: object): void;
  /**
   * Throws if `If-Match` or, in an upsert, `If-None-Match` asks for another state of the resource. Pass null if the
   * resource does not exist. The resource must be locked, or two writers could both pass.
   */
  require(resource: object | null): void;
}

const tagOf = (resource: object) =>
  `"${createHash('sha256').update(JSON.stringify(resource)).digest('base64url').slice(0, 22)}"`;

export const etagOf = (op: Operation, request: FastifyRequest, reply: FastifyReply): Etag => ({
  send: (resource) => void reply.header('etag', tagOf(resource)).header('cache-control', 'private, no-cache'),
  require(resource) {
    const wanted = request.headers['if-match'];
    const unwanted = takesIfNoneMatch(op) ? request.headers['if-none-match'] : undefined;
    if (wanted === undefined && unwanted === undefined) return;
    const tag = resource && tagOf(resource);
    if (unwanted !== undefined && names(unwanted, tag)) {
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

/** Whether a list of tags contains this one. A star matches any existing resource. */
const names = (list: string, tag: string | null) =>
  tag !== null && (list.trim() === '*' || list.split(',').some((listed) => listed.trim() === tag));
