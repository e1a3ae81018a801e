"""Renders a `VerifyReport`: the verdict on a change that somebody else wrote."""
