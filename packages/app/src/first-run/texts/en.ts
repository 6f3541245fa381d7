export const en = {
  title: 'First steps: {done} of {all} done',
  hide: 'Hide',
  done: 'done',
  data: 'Connect data',
  dataHint: 'Tell this deployment where your data is. The demo has its own.',
  model: 'Draft a model',
  modelHint: 'Cubes and views name what your tables mean.',
  chart: 'Make a first chart',
  chartHint: 'Choose measures and dimensions, and save what you find.',
  dashboard: 'Publish a dashboard',
  dashboardHint: 'Open a workbook of yours, arrange its charts and publish.',
  embed: 'Embed it',
  embedHint:
    'Open your workbook, and choose Embed: it shows the dashboard as a customer sees it, and the code.',
  invite: 'Invite your team',
  inviteHint: 'Each person gets a link to choose a password.',
};
