"""Starts two processes in the way that its argument names; each compiles the same function."""

import multiprocessing
import subprocess
import sys

import torch


def talks(x):
    x = x + 1
    print("working")
    return x * 2


def work(number):
    torch.compile(talks, backend="eager")(torch.ones(2))


def main(method):
    if method == "launcher":
        children = [subprocess.Popen([sys.executable, __file__, "one"], env=None) for _ in range(2)]
        for child in children:
            child.wait()
    elif method == "dataloader":
        data = torch.utils.data.DataLoader(Compiles(), num_workers=2, batch_size=None)
        list(data)
    elif method == "one":
        work(0)
    else:
        context = multiprocessing.get_context(method)
        processes = [context.Process(target=work, args=(number,)) for number in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()


class Compiles(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.compile(talks, backend="eager")(torch.ones(2))


if __name__ == "__main__":
    main(sys.argv[1])
