/** Sends a file, and tells how much of it was sent, which `fetch` cannot. */
import { createOrielClient, type OrielClient } from '@oriel/client';
import { personAccess } from './person-access.ts';

/** A client whose requests tell their progress, from 0 to 1. */
export const uploadingClient = (onProgress: (part: number) => void): OrielClient =>
  createOrielClient({
    baseUrl: location.origin,
    getHeaders: personAccess.headers,
    fetch: (address, init) => send(String(address), init ?? {}, onProgress),
  });

const send = (address: string, init: RequestInit, onProgress: (part: number) => void) =>
  new Promise<Response>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method ?? 'GET', address);
    for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0);
    request.onerror = () => reject(new TypeError('The connection was lost.'));
    request.onabort = () => reject(new DOMException('The upload was ended.', 'AbortError'));
    request.onload = () => {
      const type = request.getResponseHeader('content-type');
      resolve(
        new Response(request.status === 204 ? null : request.responseText, {
          status: request.status,
          ...(type && { headers: { 'content-type': type } }),
        }),
      );
    };
    init.signal?.addEventListener('abort', () => request.abort());
    request.send(init.body as XMLHttpRequestBodyInit);
  });
