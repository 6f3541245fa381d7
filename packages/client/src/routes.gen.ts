// Made by `npm run generate` from the contract.
export const routes: Record<string, string> = {
  createApiKey: 'POST /api/v1/api-keys',
  createDeployment: 'POST /build/api/v1/deployments',
  createUser: 'POST /api/v1/users',
  deleteApiKey: 'DELETE /api/v1/api-keys/{id}',
  deleteDeployment: 'DELETE /api/v1/deployments/{deploymentId}',
  getApiKey: 'GET /api/v1/api-keys/{id}',
  getDeployment: 'GET /api/v1/deployments/{deploymentId}',
  getDeployments: 'GET /api/v1/deployments',
  getMe: 'GET /api/v1/users/me',
  getSpec: 'GET /api/v1/spec',
  listApiKeys: 'GET /api/v1/api-keys',
  listRegions: 'GET /api/v1/regions',
  updateApiKey: 'PUT /api/v1/api-keys/{id}',
};
