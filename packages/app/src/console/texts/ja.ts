import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  admin: '管理',
  data: 'データ',
  sources: 'データソース',
  models: 'データモデル',
  policies: 'ポリシー',
  operations: '運用',
  auditLog: '監査ログ',
  more: 'さらに表示',
  all: 'すべて',
  details: '詳細',
  actions: '操作',
  download: 'ダウンロード',
};
