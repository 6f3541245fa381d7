/** Texts that try to run as script. */

/** Each sets `window.hacked`, or asks `evil.invalid` for something, if it gets its way. */
export const HOSTILE = [
  '<script>window.hacked=1</script>',
  '<img src=x onerror="window.hacked=1">',
  '<img src="https://evil.invalid/pixel.png">',
  '<svg onload="window.hacked=1"><script>window.hacked=1</script></svg>',
  '"><iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '<a href="javascript:window.hacked=1" id="bait">press</a>',
  '[press](javascript:window.hacked=1)',
  '![x](https://evil.invalid/markdown.png)',
  '<style>@import url(https://evil.invalid/a.css);*{background:url(https://evil.invalid/b.png)}</style>',
  '<div style="background:url(https://evil.invalid/c.png);position:fixed;inset:0">x</div>',
  '<math><mtext></mtext><mglyph><style><img src=x onerror="window.hacked=1"></style></mglyph></math>',
  '<form action="https://evil.invalid"><button formaction="javascript:window.hacked=1">x</button></form>',
  '<link rel=stylesheet href="https://evil.invalid/d.css"><base href="https://evil.invalid/">',
  '<object data="https://evil.invalid/e"></object><embed src="https://evil.invalid/f">',
  '{{constructor.constructor("window.hacked=1")()}}',
  'red;}*{background:url(https://evil.invalid/g.png)}',
  '</title><script>window.hacked=1</script>',
];
