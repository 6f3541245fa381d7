export const en = {
  admin: 'Admin',
  operations: 'Operations',
  auditLog: 'Audit log',
  more: 'Show more',
  all: 'All',
  details: 'Details',
  actions: 'Actions',
  download: 'Download',
};
