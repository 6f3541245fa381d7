import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  somebodyElse: '別の人がサインインしています',
  somebodyElseHint:
    'このブラウザーの別のタブで、別の人がサインインしました。その人の名前では何も保存されていません。ダッシュボードの未保存の変更は、あなたがもう一度サインインするまでこのブラウザーに残ります。',
  toHome: 'ホームへ',
  notSaved: '保存されていない変更があります',
  notSavedHint:
    'まだ保存できていないダッシュボードの変更が、このブラウザーに残っています。2 週間ここに残り、このブラウザーを使う人はだれでも読むことができます。',
  forget: '削除してサインアウト',
  keep: '残してサインアウト',
};
