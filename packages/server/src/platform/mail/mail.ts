/**
 * Sends mail through the SMTP server of the settings. Jobs send, not requests, because servers of others may be slow or
 * away. One message has one recipient.
 */

import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import MimeNode from 'nodemailer/lib/mime-node';
import { createAdmission } from '../admission/admission.ts';
import { isMailAddress, type Mailbox, type MailSettings } from './settings.ts';

export interface MailMessage {
  /**
   * What the message is, such as `run 12 to user 7`: the same at each attempt to send it. The Message-ID is made from it, by
   * which receivers recognise a message that was sent twice.
   */
  id: string;
  to: Mailbox;
  subject: string;
  text: string;
  html?: string;
  attachments?: MailAttachment[];
  /** Names what people can unsubscribe from, such as `notification-12` (RFC 2919). */
  listId?: string;
  /** A POST to it unsubscribes the recipient without asking (RFC 8058). */
  unsubscribeUrl?: string;
  /** The sharer of the message, if there may be thousands. One sharer never has all connections to the server. */
  sharer?: string;
}

export interface MailAttachment {
  filename: string;
  contentType: string;
  /** Messages that share it are composed faster. */
  content: Uint8Array;
  /** The id of a picture within the HTML: `<img src="cid:…">`. */
  cid?: string;
}

export interface Mail {
  /** The sender. */
  from: Mailbox;
  /** Resolves when the server has accepted the message. Rejects with a `MailError`. */
  send(message: MailMessage, signal?: AbortSignal): Promise<void>;
}

export class MailError extends Error {
  /** Sending the same message again would fail again: the server refused it, or it cannot be sent. */
  readonly isPermanent: boolean;
  /** The connection ended after the message was handed over and before the server answered. */
  readonly mayBeSent: boolean;

  constructor(message: string, { isPermanent = false, mayBeSent = false } = {}) {
    super(message);
    this.isPermanent = isPermanent;
    this.mayBeSent = mayBeSent;
  }
}

export interface MailLimits {
  /** How long the server may take to greet, or to answer a command. */
  answerMs: number;
  /** The time limit of a whole message. A server that answers each command just in time must not hold a job forever. */
  messageMs: number;
  messageBytes: number;
  /** Connections to the server. */
  atOnce: number;
  waitMs: number;
}

const LIMITS: MailLimits = {
  answerMs: 30_000,
  messageMs: 120_000,
  messageBytes: 15_000_000,
  atOnce: 5,
  waitMs: 600_000,
};
const WAITING_MAX = 100_000;
const SUBJECT_MAX = 200;
const NAME_MAX = 100;
const REASON_MAX = 300;

/** The headers of the standard, and `List-Unsubscribe-Post`: unsigned, receivers would not offer to unsubscribe. */
const SIGNED_HEADERS = [
  'From:Reply-To:Subject:Date:Message-ID:To:MIME-Version:Content-Type:Content-Transfer-Encoding',
  'Auto-Submitted:List-Id:List-Unsubscribe:List-Unsubscribe-Post',
].join(':');

export function createMail(settings: MailSettings, limits: MailLimits = LIMITS): Mail {
  const { from, dkim } = settings;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const connections = createAdmission({
    places: limits.atOnce,
    waitingMax: WAITING_MAX,
    waitMs: limits.waitMs,
    refusal: () => new MailError('too many messages wait to be sent'),
  });

  async function compose(message: MailMessage): Promise<Buffer> {
    const { id, to, subject, text, html, attachments = [], listId, unsubscribeUrl } = message;
    const headers: Record<string, string> = { 'Auto-Submitted': 'auto-generated' };
    if (listId) headers['List-Id'] = `<${listId}.${domain}>`;
    if (unsubscribeUrl) {
      headers['List-Unsubscribe'] = `<${requireUrl(unsubscribeUrl)}>`;
      headers['List-Unsubscribe-Post'] = 'List-Unsubscribe=One-Click';
    }
    const composed = await new MailComposer({
      from: oneLineName(from),
      to: oneLineName(to),
      subject: oneLine(subject, SUBJECT_MAX),
      messageId: `<${createHash('sha256').update(id).digest('hex').slice(0, 40)}@${domain}>`,
      headers,
      text,
      html,
      attachments: await Promise.all(
        attachments.map(async (attachment) => ({
          raw: await partOf(attachment),
          // Where it belongs: beside the HTML that shows it, or after it.
          ...(attachment.cid && { cid: attachment.cid, contentDisposition: 'inline' as const }),
        })),
      ),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
      .compile()
      .build();
    if (composed.length > limits.messageBytes) {
      throw new MailError(`the message has more than ${limits.messageBytes} bytes`, { isPermanent: true });
    }
    return composed;
  }

  async function hand(raw: Buffer, to: string, signal: AbortSignal) {
    const { server } = settings;
    const socket = connect({ host: server.host, port: server.port });
    const giveUp = () => socket.destroy(new Error(reasonOf(signal)));
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const transport = createTransport({
        host: server.host,
        port: server.port,
        secure: server.isSecure,
        requireTLS: server.tls !== 'off',
        ignoreTLS: server.tls === 'off',
        tls: { rejectUnauthorized: server.tls !== 'no-verify' },
        auth: server.user === undefined ? undefined : { user: server.user, pass: server.password ?? '' },
        // Otherwise a server that does not ask who we are would get the message.
        forceAuth: server.user !== undefined,
        greetingTimeout: limits.answerMs,
        socketTimeout: limits.answerMs,
        getSocket: (_options: unknown, callback: (error: Error | null, socket?: object) => void) => {
          socket.once('error', callback);
          socket.once('connect', () => {
            socket.off('error', callback);
            callback(null, { connection: socket });
          });
        },
      });
      await transport.sendMail({
        envelope: { from: from.address, to: [to] },
        raw,
        ...(dkim && {
          dkim: {
            domainName: domain,
            keySelector: dkim.selector,
            privateKey: dkim.privateKey,
            headerFieldNames: SIGNED_HEADERS,
          },
        }),
      });
    } catch (error) {
      throw toMailError(error as SmtpError, { socket, raw, signal });
    } finally {
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
    }
  }

  return {
    from,
    async send(message, signal) {
      const { address } = message.to;
      if (!isMailAddress(address)) throw new MailError('this is not an email address', { isPermanent: true });
      const raw = await compose(message);
      const send = () => {
        const ends = [AbortSignal.timeout(limits.messageMs), ...(signal ? [signal] : [])];
        return hand(raw, address, AbortSignal.any(ends));
      };
      return connections.take({ signal, sharer: message.sharer ?? null }, send);
    },
  };
}

/** A cache of encoded attachments. An entry stays as long as its content is in memory. */
const parts = new WeakMap<Uint8Array, { attachment: MailAttachment; part: Promise<Buffer> }>();

/** Hundreds of readers get the same picture, which is written as text once. */
function partOf(attachment: MailAttachment): Promise<Buffer> {
  const { content, contentType, filename, cid } = attachment;
  const known = parts.get(content);
  const isSame = (['contentType', 'filename', 'cid'] as const).every(
    (name) => known?.attachment[name] === attachment[name],
  );
  if (known && isSame) return known.part;
  const node = new MimeNode('multipart/mixed').createChild(contentType, { filename });
  node.setHeader('Content-Disposition', cid ? 'inline' : 'attachment');
  if (cid) node.setHeader('Content-Id', `<${cid}>`);
  const part = node.setContent(Buffer.from(content.buffer, content.byteOffset, content.byteLength)).build();
  parts.set(content, { attachment, part });
  // The next message tries again.
  part.catch(() => parts.get(content)?.part === part && parts.delete(content));
  return part;
}

/** As nodemailer throws it. */
interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
  response?: string;
}

/** These mean that the server refused this message. Others, such as a wrong password, are about the settings. */
const OF_THE_MESSAGE = ['EENVELOPE', 'EMESSAGE'];

function toMailError(
  error: SmtpError,
  { socket, raw, signal }: { socket: Socket; raw: Buffer; signal: AbortSignal },
): MailError {
  const { code = '', responseCode } = error;
  const isRefused = responseCode !== undefined && responseCode >= 500 && OF_THE_MESSAGE.includes(code);
  // Nodemailer's own checks of the envelope, such as a letter that the server cannot take, have no code of a server.
  const isImpossible = responseCode === undefined && code === 'EENVELOPE';
  const reason = signal.aborted
    ? reasonOf(signal)
    : error.response
      ? `the mail server said: ${error.response}`
      : error.message;
  return new MailError(oneLine(reason, REASON_MAX), {
    isPermanent: isRefused || isImpossible,
    mayBeSent: responseCode === undefined && socket.bytesWritten >= raw.length,
  });
}

const reasonOf = ({ reason }: AbortSignal) =>
  (reason as Error | undefined)?.name === 'TimeoutError'
    ? 'the mail server took too long'
    : 'sending was interrupted';

/** Removes line breaks, so that a text of a user cannot add a header. */
function oneLine(text: string, max: number): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.length > max ? `${[...line].slice(0, max - 1).join('')}…` : line;
}

const oneLineName = ({ address, name = '' }: Mailbox) => ({ address, name: oneLine(name, NAME_MAX) });

function requireUrl(text: string): string {
  const { protocol, href } = new URL(text);
  if (!/^https?:$/.test(protocol) || /[<>\s]/.test(href)) throw new Error('this is not an address of a page');
  return href;
}
