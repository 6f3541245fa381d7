/** Git's smart HTTP protocol: version 2 for reading, and the older one for pushes, which version 2 does not have. */
import { type Outbound, OutboundError, type OutboundRequest } from '../../outbound/outbound.ts';
import type { Hash } from '../objects.ts';
import {
  DELIMITER,
  FLUSH,
  notGit,
  type Packet,
  pktLine,
  printable,
  readPackets,
  readSideBand,
  textOfPacket,
} from './pkt-line.ts';
import { RemoteError } from './remote-error.ts';

export interface RemoteAddress {
  /** The address without credentials, and without `/info/refs`. */
  url: string;
  credentials?: { user: string; token: string } | undefined;
}

export interface RemoteBranches {
  /** The newest commit of each branch, by name without `refs/heads/`. */
  heads: Map<string, Hash>;
  /** The branch that `HEAD` names, also in a repository that is empty. */
  defaultBranch: string | undefined;
}

export interface RefUpdate {
  branch: string;
  /** What the branch must have at the remote, or null if it must not exist. */
  from: Hash | null;
  /** Null deletes the branch. */
  to: Hash | null;
}

export interface WantedCommits {
  wants: readonly Hash[];
  haves: readonly Hash[];
  /** Whether only these commits are fetched, without those before them. By default, the whole history is. */
  withoutHistory?: boolean;
}

export interface Remote {
  listBranches(signal: AbortSignal): Promise<RemoteBranches>;
  /** Finds the commit of a branch, of a tag, or with this hash. Null stands for the branch that `HEAD` names. */
  findCommit(ref: string | null, signal: AbortSignal): Promise<Hash>;
  /** Returns a pack with what the wanted commits need. It may be thin: its deltas may stand on what `haves` need. */
  fetchPack(commits: WantedCommits, signal: AbortSignal): Promise<Buffer>;
  /** Throws a `RemoteError` of the kind `rejected` if the remote does not take one of the updates. */
  push(updates: readonly RefUpdate[], pack: Buffer | undefined, signal: AbortSignal): Promise<void>;
}

export interface RemoteLimits {
  packBytes: number;
  timeoutMs: number;
}

const HEADS = 'refs/heads/';
const TAGS = 'refs/tags/';
const COMMIT = /^[0-9a-f]{40}$/;
const NO_COMMIT = '0'.repeat(40);
const AGENT = 'agent=oriel';
/** The size of a list of about 100,000 branches and tags. */
const LIST_BYTES = 16 * 1024 * 1024;
const BRANCHES_MAX = 10_000;
/** The limit of known commits to name: from some that both sides have, the remote knows the rest. */
const HAVES_MAX = 512;

type Service = 'git-upload-pack' | 'git-receive-pack';

export function createRemote(
  outbound: Outbound,
  { url, credentials }: RemoteAddress,
  { packBytes, timeoutMs }: RemoteLimits,
): Remote {
  const base = url.replace(/\/+$/, '');
  const headers: Record<string, string> = credentials
    ? { authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.token}`).toString('base64')}` }
    : {};

  async function send(path: string, request: OutboundRequest & { headers: Record<string, string> }) {
    const all = { timeoutMs, ...request, headers: { ...headers, ...request.headers } };
    const answer = await outbound.fetch(`${base}/${path}`, all).catch(explain);
    requireSuccess(answer);
    return answer;
  }

  async function discover(service: Service, signal: AbortSignal): Promise<Packet[]> {
    const answer = await send(`info/refs?service=${service}`, {
      headers: service === 'git-upload-pack' ? { 'git-protocol': 'version=2' } : {},
      maxBytes: LIST_BYTES,
      signal,
    });
    requireType(answer, `application/x-${service}-advertisement`);
    const packets = [...readPackets(await bytesOf(answer))];
    // Version 2 may leave out this first section.
    if (textOfPacket(packets[0] ?? 'flush') === `# service=${service}`) packets.splice(0, 2);
    return packets;
  }

  async function post(service: Service, parts: Buffer[], signal: AbortSignal, maxBytes: number) {
    const answer = await send(service, {
      method: 'POST',
      headers: {
        'content-type': `application/x-${service}-request`,
        accept: `application/x-${service}-result`,
        ...(service === 'git-upload-pack' ? { 'git-protocol': 'version=2' } : {}),
      },
      body: Buffer.concat(parts),
      maxBytes,
      signal,
    });
    requireType(answer, `application/x-${service}-result`);
    return bytesOf(answer);
  }

  async function capabilities(signal: AbortSignal): Promise<Map<string, string>> {
    const [version, ...lines] = (await discover('git-upload-pack', signal)).map(textOfPacket);
    if (version !== 'version 2') {
      throw new RemoteError('not_git', 'The git server does not speak version 2 of the protocol of git.');
    }
    const found = new Map(lines.map((line) => splitAt(line, '=')));
    const format = found.get('object-format') ?? 'sha1';
    if (format !== 'sha1')
      throw new RemoteError(
        'unacceptable',
        `The repository uses ${printable(format)}, and only SHA-1 is known here.`,
      );
    return found;
  }

  async function listRefs(prefixes: readonly string[], signal: AbortSignal): Promise<Buffer> {
    const known = await capabilities(signal);
    const args = ['symrefs', 'peel', ...prefixes.map((prefix) => `ref-prefix ${prefix}`)];
    if (known.get('ls-refs')?.split(' ').includes('unborn')) args.push('unborn');
    const request = [pktLine('command=ls-refs\n'), pktLine(AGENT), DELIMITER, ...args.map(pktLine), FLUSH];
    return post('git-upload-pack', request, signal, LIST_BYTES);
  }

  return {
    listBranches: async (signal) => readBranches(await listRefs(['HEAD', HEADS], signal)),

    async findCommit(ref, signal) {
      const names = ref === null ? ['HEAD'] : [`${HEADS}${ref}`, `${TAGS}${ref}`];
      const found = new Map<string, Hash>();
      for (const { name, hash, peeled } of readRefs(await listRefs(names, signal)))
        if (hash !== 'unborn') found.set(name, peeled ?? hash);
      const commit = names.map((name) => found.get(name)).find((hash) => hash !== undefined);
      if (commit !== undefined) return commit;
      if (ref !== null && COMMIT.test(ref)) return ref;
      throw new RemoteError(
        'not_found',
        ref === null
          ? 'The repository has no commits.'
          : `The repository has no branch or tag ${printable(ref)}.`,
      );
    },

    async fetchPack({ wants, haves, withoutHistory = false }, signal) {
      const args = [
        'thin-pack',
        'no-progress',
        'ofs-delta',
        ...(withoutHistory ? ['deepen 1'] : []),
        ...new Set(wants.map((hash) => `want ${hash}`)),
        ...haves.slice(0, HAVES_MAX).map((hash) => `have ${hash}`),
        'done',
      ];
      const request = [pktLine('command=fetch'), pktLine(AGENT), DELIMITER, ...args.map(pktLine), FLUSH];
      return readFetched(await post('git-upload-pack', request, signal, packBytes), withoutHistory);
    },

    async push(updates, pack, signal) {
      const [first] = await discover('git-receive-pack', signal);
      const known = capabilitiesOf(first ?? 'flush');
      const capabilities = ['report-status', 'side-band-64k', 'atomic', 'delete-refs', 'quiet'].filter(
        (each) => known.has(each),
      );
      if (!known.has('report-status')) throw notGit();
      const lines = updates.map(({ branch, from, to }, i) => {
        const line = `${from ?? NO_COMMIT} ${to ?? NO_COMMIT} ${HEADS}${branch}`;
        return pktLine(i === 0 ? `${line}\0${[...capabilities, AGENT].join(' ')}` : line);
      });
      const parts = [...lines, FLUSH, ...(pack ? [pack] : [])];
      const answer = await post('git-receive-pack', parts, signal, LIST_BYTES);
      requireTaken(known.has('side-band-64k') ? readSideBand(readPackets(answer)) : answer);
    },
  };
}

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function explain(error: unknown): never {
  if (!(error instanceof OutboundError)) throw error;
  throw new RemoteError(error.failure === 'too_large' ? 'too_large' : 'unreachable', error.message);
}

function requireSuccess({ status }: Response) {
  if (status === 200) return;
  if (status === 401 || status === 403)
    throw new RemoteError(
      'unauthorized',
      'The git server does not accept the credentials, or they may not do this.',
    );
  // Hosts also answer 404 to callers who may not know that a repository exists.
  if (status === 404)
    throw new RemoteError('not_found', 'The git server does not have this repository, or does not show it.');
  if (status >= 300 && status < 400)
    throw new RemoteError('not_found', 'The repository has moved to another address: give that one.');
  throw new RemoteError('failed', `The git server answers with the status ${status}.`);
}

function requireType({ headers }: Response, type: string) {
  const [found] = (headers.get('content-type') ?? '').split(';');
  if (found!.trim() !== type) throw notGit();
}

const REF_LINE = /^([0-9a-f]{40}|unborn) ([^ ]+)((?: [^ ]+)*)$/;

interface Ref {
  name: string;
  hash: Hash | 'unborn';
  /** The ref that `HEAD` names. */
  target: string | undefined;
  /** The object that an annotated tag names. */
  peeled: Hash | undefined;
}

function* readRefs(bytes: Buffer): Generator<Ref, void> {
  for (const packet of readPackets(bytes)) {
    if (packet === 'flush') return;
    const [, hash, name, attributes] = REF_LINE.exec(textOfPacket(packet)) ?? [];
    if (hash === undefined) throw failureIn(packet);
    const attributeOf = (key: string) =>
      attributes!
        .split(' ')
        .find((attribute) => attribute.startsWith(key))
        ?.slice(key.length);
    const peeled = attributeOf('peeled:');
    if (peeled !== undefined && !COMMIT.test(peeled)) throw notGit();
    yield { name: name!, hash, target: attributeOf('symref-target:'), peeled };
  }
}

function readBranches(bytes: Buffer): RemoteBranches {
  const heads = new Map<string, Hash>();
  let defaultBranch: string | undefined;
  for (const { name, hash, target } of readRefs(bytes)) {
    if (name === 'HEAD' && target?.startsWith(HEADS)) defaultBranch = target.slice(HEADS.length);
    else if (name.startsWith(HEADS) && hash !== 'unborn') heads.set(name.slice(HEADS.length), hash);
    if (heads.size > BRANCHES_MAX)
      throw new RemoteError('too_large', `The repository has more than ${BRANCHES_MAX} branches.`);
  }
  return { heads, defaultBranch };
}

/** A remote may report an error in place of any line. */
function failureIn(packet: Packet): RemoteError {
  const text = textOfPacket(packet);
  return text.startsWith('ERR ') ? new RemoteError('failed', printable(text.slice(4))) : notGit();
}

function readFetched(bytes: Buffer, isShallow: boolean): Buffer {
  const packets = readPackets(bytes);
  for (const packet of packets) {
    const section = textOfPacket(packet);
    if (section === 'packfile') return readSideBand(packets);
    if (section.startsWith('ERR ')) throw failureIn(packet);
    if (section === 'shallow-info' && !isShallow)
      throw new RemoteError(
        'unacceptable',
        'The repository is a shallow clone, so a part of its history is not there.',
      );
  }
  throw notGit();
}

function capabilitiesOf(first: Packet): Set<string> {
  const text = textOfPacket(first);
  if (text.startsWith('ERR ')) throw failureIn(first);
  return new Set(splitAt(text, '\0')[1].split(' '));
}

function requireTaken(report: Buffer) {
  const lines = [...readPackets(report)].map(textOfPacket);
  if (!lines[0]?.startsWith('unpack ')) throw notGit();
  const refused =
    lines.find((line) => line.startsWith('ng ')) ?? (lines[0] === 'unpack ok' ? undefined : lines[0]);
  if (refused === undefined) return;
  const why = printable(refused.replace(/^ng refs\/heads\//, ''));
  throw new RemoteError('rejected', `The git server did not take the changes (${why}).`);
}
