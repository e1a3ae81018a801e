"""Explanations of breaks by a language model: `ai.explain.Explanation`, one or several."""
