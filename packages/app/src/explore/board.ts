/** What the parts of dashboards need to draw an answer in the app. */
import { Board, Language, type Query, type Result, textsLoader } from '@oriel/charts';
import { en } from '@oriel/charts/texts/en';
import { api } from '../data/api.ts';
import { tokens } from '../look.ts';
import { locale } from '../texts/index.ts';

const load = textsLoader(en, {
  de: () => import('@oriel/charts/texts/de'),
  es: () => import('@oriel/charts/texts/es'),
  fr: () => import('@oriel/charts/texts/fr'),
  ja: () => import('@oriel/charts/texts/ja'),
});

export const language = new Language(en, load);

export function createBoard(deploymentId: number): Board {
  void language.use(locale.peek());
  const board = new Board({
    api: {
      async load(id, queries: Query[]): Promise<Result[]> {
        const body = { query: queries, queryType: 'multi' };
        const reply = await api.load({ deploymentId: id, body: body as never });
        return (reply as unknown as { results: Result[] }).results;
      },
      meta: async (id) => (await api.getQueryMeta({ deploymentId: id })) as never,
    },
    language,
    tokens: () => tokens.value,
    mayExport: () => true,
    rendered() {},
    tell() {},
  });
  board.dashboard = { publicId: '', deploymentId, reportSnapshots: [], config: {} };
  return board;
}
