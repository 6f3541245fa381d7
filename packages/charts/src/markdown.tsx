/** Texts of widgets. */
import { h, type VNode } from 'preact';
import { type ElementFactory, markdownElements } from './markdown-elements.ts';

/** Where a link may lead. */
export function safeLink(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address.trim(), location.origin);
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

const MAKING: ElementFactory<VNode> = {
  h: (name, properties, children) => h(name, properties, ...children),
  linkOf: safeLink,
};

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{markdownElements(text, MAKING)}</div>;
}
