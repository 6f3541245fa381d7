/** Sends views as pages of the account's theme. */
import type { Operation } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';
import { type Page, PageError, type ShowError } from '../../platform/http/error-page.ts';
import { DEVICE_PATH } from '../device-codes/index.ts';
import { pageOf, type View } from './layout.ts';
import { ownAddress } from './own-address.ts';
import type { Theme, Themes } from './theme.ts';
import { errorView, noPageView } from './views/error.ts';
import { type SignInOffer, signInView } from './views/sign-in.ts';

export const SIGN_IN_PATH = '/sign-in';
export const ACCOUNT_PATH = '/account';
/** The app: where people go who have signed in, unless they were on their way to another page. */
export const START_PATH = '/';

type ViewSource = View | ((theme: Theme) => View);

export interface Show {
  /** For a handler that returns a page. */
  page(sendHeaders: (headers: Page['headers']) => void, view: ViewSource): Promise<string>;
  /** For the `catch` of a promise: shows the view if there is one for the error, and otherwise passes the error on. */
  failure(viewOf: (failure: ApiError) => ViewSource | undefined): (error: unknown) => Promise<never>;
  /** For an error that no handler made a page for. */
  error: ShowError;
}

export function createShow(themes: Themes, offer: SignInOffer): Show {
  const show = async (viewed: ViewSource) => {
    const theme = await themes.current();
    return pageOf(typeof viewed === 'function' ? viewed(theme) : viewed, theme);
  };
  return {
    async page(sendHeaders, view) {
      const { html, headers } = await show(view);
      sendHeaders(headers);
      return html;
    },
    failure: (viewOf) => async (error) => {
      const view = error instanceof ApiError ? viewOf(error) : undefined;
      throw view ? new PageError(error as ApiError, await show(view)) : error;
    },
    error: (failure, { id, url, operation }) => {
      if (failure.code === 'route_not_found' || failure.code === 'app_page_not_found')
        return show(noPageView(failure));
      if (failure.statusCode !== 401) return show(errorView(failure, id, pathToReturnTo(operation)));
      const here = operation?.method === 'GET' ? url : undefined;
      // A visitor who is not signed in signs in here, and then comes back.
      return show(signInView({ ...offer, next: ownAddress(here, pathToReturnTo(operation)) }));
    },
  };
}

function pathToReturnTo(operation: Operation | undefined): string {
  if (operation?.auth !== 'console') return SIGN_IN_PATH;
  return operation.path.startsWith(DEVICE_PATH) ? DEVICE_PATH : ACCOUNT_PATH;
}
