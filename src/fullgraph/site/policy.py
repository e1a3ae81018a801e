"""What a page of the site may load and send: only files of the site itself."""

from __future__ import annotations

# In each page, because a static site cannot send headers. Quotes are allowed in an attribute.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)
# Headers of `site serve`, and what a host should send. Pages cannot say this themselves.
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
# `site serve` reloads a page on changes, so its pages may ask its own host.
SERVED_POLICY = f"{POLICY}; connect-src 'self'"
