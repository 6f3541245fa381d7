import type { Texts } from '../../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  auditHint: 'だれが何を変更したかを新しい順に表示します。秘密の値は伏せられます。',
  noEntries: '一致する項目はありません',
  time: '日時',
  operation: '操作',
  resource: '対象',
  resourceType: '対象の種類',
  user: 'ユーザー',
  userNumber: 'ユーザー番号',
  apiKey: 'API キー',
  address: 'アドレス',
  request: 'リクエスト',
  tenant: '埋め込みテナント',
  from: '開始',
  until: '終了',
  field: '項目',
  before: '変更前',
  after: '変更後',
  noFields: 'この項目で変更された値はありません。',
  exportEntries: 'エクスポート',
};
