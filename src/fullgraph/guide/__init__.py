"""The guide: lessons about the programming model of `torch.compile`, with code that runs.

A lesson is one Markdown file in `lessons/`. The number in front of its name is its place in the
reading order. It starts with facts in TOML, between lines of `+++`:

    title     what the lesson is called
    minutes   how long reading and running it takes
    topics    the topics of the programming model that it covers
    breaks    the ids of the graph breaks that it is about (optional)

Blocks of these kinds are more than text; all others are shown as they are:

    ```python            code that runs; all blocks of a lesson are one program
    ```python raises     code that ends in an error, which is a part of the output
    ```output            what the code above it printed
    ```picture f(x)      the source of `f`, with the graphs that the call compiles
    ```quiz              a question, and the expression that answers it

`python -m tools.refresh_lessons` runs the lessons and writes the outputs and the pictures. Text of
torch is not stored: a marker such as `{{GB0170.type}}` stands for it, see `wording.py`.
"""
