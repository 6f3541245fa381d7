import { texts as widgets } from '@oriel/charts/texts/ja';
import type { Texts } from './en.ts';

export const texts: Texts = {
  ...widgets,
  notFound: 'このダッシュボードは利用できません',
  notFoundHint: '削除されたか、アクセス権がない可能性があります。ページの管理者にお問い合わせください。',
  waiting: 'このダッシュボードを表示するページを待っています',
  waitingHint: 'もう一度表示するには、ページ全体を再読み込みしてください。',
  signedOut: 'サインインしていません',
  signedOutHint: 'サインインするか、このダッシュボードを表示するページを開いてください。',
  signIn: 'サインイン',
  ended: 'セッションが終了しました',
  endedHint: '続けるには、ページ全体を再読み込みしてください。',
  used: 'このリンクはもう使えません',
  clearAll: 'すべてのフィルターをクリア',
  downloadAs: '{format} でダウンロード',
  downloadFailed: 'ファイルを作成できませんでした。しばらくしてからもう一度お試しください。',
  byMail: 'メールで受け取る',
  subscribed: 'メールでお届けします。',
  unsubscribed: '今後は届きません。',
  subscribeFailed: '変更できませんでした。後でもう一度お試しください。',
};
