import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: '「{name}」を共有',
  who: 'アクセスできる人',
  read: '表示できる',
  edit: '編集できる',
  manage: '管理できる',
  from_: '{name} から',
  owner: '所有者',
  user: 'ユーザー',
  group: 'グループ',
  role: 'ロール',
  add: 'ユーザー、グループ、ロールを追加',
  searchPeople: 'ユーザー、グループ、ロールを検索',
  nobody: '所有者と管理者以外はまだアクセスできません。',
  remove: '{name} を外す',
  level: '{name} のアクセス',
  addSome: 'ユーザーまたはグループを追加',
  searchSome: 'ユーザーやグループを検索',
  viewers:
    '組織のほかのメンバーは、本人またはグループに共有すると、この中の公開済みダッシュボードを見られます。',
  noViewers: 'まだほかの人には共有されていません。',
  unnamed: '{id} 番',
  tenant: 'あなたの組織で作成できる全員が、これを表示および変更できます。',
  noMatch: '見つかりません',
};
