/** For engines that only read files. */
export const NO_SERVERS = {
  allowPrivateRemotes: false,
  ownDatabase: () => Promise.reject(new Error('this test has no database')),
};
