/** Tables that only this domain writes to. */
export const tables = ['oauth_integrations', 'oauth_flows', 'oauth_tokens'] as const;
