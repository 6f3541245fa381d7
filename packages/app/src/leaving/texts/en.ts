export const en = {
  somebodyElse: 'Somebody else is signed in now',
  somebodyElseHint:
    'In another tab of this browser, somebody else has signed in. Nothing was saved in their name. What you had not saved yet of a dashboard waits in this browser until you sign in again.',
  toHome: 'Go to home',
  notSaved: 'Not everything is saved',
  notSavedHint:
    'This browser keeps changes to a dashboard that could not be saved yet. They wait here for two weeks, where whoever uses this browser can read them.',
  forget: 'Delete them and sign out',
  keep: 'Keep them and sign out',
} as const;
