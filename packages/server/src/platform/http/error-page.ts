/** Errors for browsers, which are pages: of operations for people, and of addresses that no operation has. */
import type { Operation } from '@oriel/contract';
import { ApiError } from '../errors.ts';

export interface Page {
  html: string;
  headers: { 'content-security-policy': string; 'referrer-policy': string };
}

/** Makes the page for an error that a handler did not make a page for. */
export type ShowError = (
  failure: ApiError,
  request: { id: string; url: string; operation?: Operation | undefined },
) => Page | Promise<Page>;

/** Whether a browser asks: browsers name HTML before JSON. Programs name JSON, or take anything. */
export const prefersHtml = (accept = '') =>
  accept.includes('text/html') && !accept.split('text/html')[0]!.includes('json');

/** An error with its own page, such as the form again with a message beside the field. */
export class PageError extends ApiError {
  readonly page: Page;
  constructor({ code, message, issues, retryAfterSeconds }: ApiError, page: Page) {
    super(code, { message, issues, retryAfterSeconds });
    this.page = page;
  }
}
