"""A `LanguageModel` on top of a model of pydantic-ai."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from fullgraph.ai.protocol import OnText, Prompt, Reply, TokenCounts
from fullgraph.ai.providers._failures import failure_of, is_caused_by
from fullgraph.ai.providers._watched_http import NotJsonError, NotStreamedError, WatchedHttp
from fullgraph.ai.selection import Selection

# What providers call the parameter with the form of the answer.
_FORM_PARAMETERS = (
    "response_format", "json_schema", "output_config", "output_format", "response_schema",
    "responseschema", "responsejsonschema",
)  # fmt: skip
# Clients want a key also for a server that needs none.
NO_KEY = "no-key"


class PydanticModel:
    """A model of any provider; see `protocol.LanguageModel`."""

    def __init__(self, selection: Selection, model: Model[Any], http: WatchedHttp) -> None:
        self._selection = selection
        self._model = model
        self._http = http
        # Whether the server takes the form of the answer as a JSON schema. Some servers that speak
        # OpenAI's protocol refuse it; the instructions describe the form as well.
        self._takes_form = bool(model.profile.get("supports_json_schema_output", False))

    async def ask(self, prompt: Prompt, max_tokens: int, on_text: OnText) -> Reply:
        """Send a prompt, pass on the text as it arrives, and return the complete answer."""
        try:
            return await self._send(prompt, max_tokens, on_text)
        except Exception as error:
            if self._http.expects_stream and is_caused_by(error, NotStreamedError):
                self._http.expects_stream = False
            elif self._takes_form and _refuses_the_form(error):
                self._takes_form = False
            else:
                raise failure_of(error, self._selection) from None
        return await self.ask(prompt, max_tokens, on_text)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.client.aclose()

    async def _send(self, prompt: Prompt, max_tokens: int, on_text: OnText) -> Reply:
        messages = [ModelRequest([UserPromptPart(prompt.user)], instructions=prompt.system)]
        settings = ModelSettings(max_tokens=max_tokens)
        parameters = self._parameters(prompt)
        if not self._http.expects_stream:
            reply = _reply(
                await model_request(
                    self._model,
                    messages,
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                )
            )
            on_text(reply.text)
            return reply
        try:
            async with model_request_stream(
                self._model,
                messages,
                model_settings=settings,
                model_request_parameters=parameters,
                instrument=False,
            ) as stream:
                async for event in stream:
                    text = _text_of(event)
                    if text:
                        on_text(text)
                reply = _reply(stream.get())
        except Exception as error:
            is_nothing = self._http.is_no_stream and isinstance(error, UnexpectedModelBehavior)
            if self._http.is_malformed or is_nothing:
                raise NotJsonError from error
            raise
        return self._checked(reply)

    def _checked(self, reply: Reply) -> Reply:
        """Return the reply; without an end if the server did not send one."""
        if self._http.is_no_stream:
            raise NotJsonError
        # Where a server of this protocol closes the connection early, pydantic-ai assumes an end.
        is_assumed = self._selection.model.provider == "openai" and not self._http.has_end
        return replace(reply, ended=None) if is_assumed and reply.ended == "stop" else reply

    def _parameters(self, prompt: Prompt) -> ModelRequestParameters:
        if not self._takes_form:
            return ModelRequestParameters()
        form = OutputObjectDefinition(
            json_schema=prompt.form, name=prompt.name.partition(" ")[0], strict=True
        )
        return ModelRequestParameters(output_mode="native", output_object=form)


def _text_of(event: object) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _reply(response: ModelResponse) -> Reply:
    reason = response.finish_reason
    ended: Any = {"stop": "stop", "length": "length", "content_filter": "refused"}.get(
        reason or "", "other" if reason else None
    )
    details = response.provider_details or {}
    return Reply(
        text=response.text or "",
        ended=ended,
        tokens=TokenCounts(response.usage.input_tokens, response.usage.output_tokens),
        why=str(details.get("refusal") or details.get("block_reason") or ""),
    )


def _refuses_the_form(error: Exception) -> bool:
    """Return whether a server says that it does not know the parameter with the form."""
    if not isinstance(error, ModelHTTPError) or error.status_code not in (400, 422):
        return False
    said = str(error.body).lower()
    return any(name in said for name in _FORM_PARAMETERS)
