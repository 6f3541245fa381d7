/** Sends copies to channels of Slack, as the bot of the token. */
import { type Outbound, OutboundError } from '../../platform/outbound/outbound.ts';
import { type Channel, NotSentError } from './channels.ts';

const API = 'https://slack.com/api';
const TIMEOUT_MS = 20_000;
/** Of Slack's own errors, those that may be over later. */
const TEMPORARY = new Set([
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);

interface Answer {
  ok: boolean;
  error?: string;
  upload_url?: string;
  file_id?: string;
}

export function createSlack({
  outbound,
  token,
  url = API,
}: {
  outbound: Outbound;
  token: string;
  /** Replaces the address of Slack in tests. */
  url?: string;
}): Channel {
  async function post(
    address: string,
    headers: Record<string, string>,
    body: string | Uint8Array,
    signal: AbortSignal,
    mayBeSent: boolean,
  ) {
    try {
      const answer = await outbound.fetch(address, {
        method: 'POST',
        headers,
        body,
        signal,
        timeoutMs: TIMEOUT_MS,
      });
      if (answer.status === 429 || answer.status >= 500)
        throw new NotSentError(`Slack answered ${answer.status}.`);
      if (answer.status >= 400)
        throw new NotSentError(`Slack answered ${answer.status}.`, { isPermanent: true });
      return answer;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new NotSentError(error.message, { mayBeSent: mayBeSent && error.failure === 'timed_out' });
    }
  }

  async function call(
    method: string,
    body: Record<string, string>,
    signal: AbortSignal,
    mayBeSent = false,
  ): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    };
    const response = await post(
      `${url}/${method}`,
      headers,
      new URLSearchParams(body).toString(),
      signal,
      mayBeSent,
    );
    const answer = (await response.json()) as Answer;
    if (!answer.ok)
      throw new NotSentError(`Slack refused it: ${answer.error}.`, {
        isPermanent: !TEMPORARY.has(answer.error ?? ''),
      });
    return answer;
  }

  return {
    isDrawn: true,
    async send({ title, rendering, link }, { address: channel }, _reader, signal) {
      const text = link ? `*${escaped(title)}*\n${link}` : `*${escaped(title)}*`;
      if (!rendering) {
        await call('chat.postMessage', { channel: channel!, text }, signal, true);
        return;
      }
      const { bytes, contentType } = rendering;
      const filename = contentType === 'application/pdf' ? 'dashboard.pdf' : 'dashboard.png';
      const place = await call(
        'files.getUploadURLExternal',
        { filename, length: String(bytes.length) },
        signal,
      );
      await post(place.upload_url!, { 'content-type': contentType }, bytes, signal, false);
      const files = JSON.stringify([{ id: place.file_id, title }]);
      const message = { files, channel_id: channel!, initial_comment: text };
      await call('files.completeUploadExternal', message, signal, true);
    },
  };
}

/** The three characters that mean something to Slack. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
