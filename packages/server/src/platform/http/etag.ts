/**
 * Entity tags: they identify the state of a resource that the caller has read. A tag is the hash of the whole
 * representation for this caller, so it changes with everything that they see, including data around the resource.
 */
import { createHash } from 'node:crypto';
import { type Operation, takesIfNoneMatch } from '@oriel/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';

export interface Etag {
  /** In a read, the reply becomes a 304 if `If-None-Match` names this state. */
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
    const tag = tagOf(resource);
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    const { 'if-none-match': known } = request.headers;
    if (isRead(request) && known !== undefined && names(known, tag)) reply.code(304);
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

const isRead = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD';

/** Whether a list of tags contains this one. A star matches any existing resource. */
const names = (list: string, tag: string | null) =>
  tag !== null && (list.trim() === '*' || list.split(',').some((listed) => listed.trim() === tag));
