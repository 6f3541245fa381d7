import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: '最初のステップ: {all} 件中 {done} 件完了',
  hide: '隠す',
  done: '完了',
  data: 'データを接続',
  dataHint: 'データの場所を指定します。デモには独自のデータがあります。',
  model: 'モデルを下書き',
  modelHint: 'キューブとビューがテーブルの意味を表します。',
  chart: '最初のグラフを作成',
  chartHint: 'メジャーとディメンションを選び、結果を保存します。',
  dashboard: 'ダッシュボードを公開',
  dashboardHint: '自分のワークブックを開き、グラフを配置して公開します。',
  embed: '埋め込む',
  embedHint: 'ワークブックを開いて「埋め込む」を選ぶと、顧客に見える画面とコードが表示されます。',
  invite: 'チームを招待',
  inviteHint: '各自がパスワードを設定するリンクを受け取ります。',
  addDemo: 'デモを追加',
  addingDemo: 'デモを追加しています…',
  removeDemo: 'デモを削除',
  openDemo: 'デモを開く',
  demoAdded: 'デモを追加しました。数秒後に質問に答えられます。',
  demoRemoved: 'デモを削除しました。',
  removeDemoHint:
    'デモのデプロイメントを、データ、モデル、レポート、ダッシュボード、その中で作られたものすべてとともに削除します。デモはまた追加できます。',
};
