/** Tables that only this domain writes to. */
export const tables = ['dashboards', 'dashboard_versions', 'dashboard_embed_access'] as const;
