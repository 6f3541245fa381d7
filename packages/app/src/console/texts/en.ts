export const en = {
  admin: 'Admin',
  data: 'Data',
  sources: 'Data sources',
  models: 'Data model',
  policies: 'Policies',
  operations: 'Operations',
  auditLog: 'Audit log',
  more: 'Show more',
  all: 'All',
  details: 'Details',
  actions: 'Actions',
  download: 'Download',
};
