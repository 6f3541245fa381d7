/** The tables that only this folder writes to. */
export const tables = ['oidc_token_configs'] as const;
