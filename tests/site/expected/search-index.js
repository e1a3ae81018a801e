{
 "releases": [
  "2.10.0",
  "2.9.0",
  "2.8.0"
 ],
 "entries": [
  [
   "GB9001",
   "Data-dependent ball",
   "The ball ‹n› of `‹type of hand›` is <in> the air. See https://example.org/balls.",
   "ball ‹n›",
   [
    0,
    1
   ],
   [
    [
     "Data-dependent ball",
     "The ball ‹n› is in the air.",
     [
      2
     ]
    ]
   ],
   "A branch on the number of balls in the air.",
   0,
   0,
   "lll",
   0,
   1,
   "another bool hands sentence sum two",
   "",
   "",
   4
  ],
  [
   "GB9002",
   "Lost a sock",
   "It was in the drawer.",
   "sock ‹name›",
   [
    3
   ],
   [],
   "",
   3,
   1,
   "llr",
   1,
   0,
   "",
   "",
   "",
   0
  ],
  [
   "GB9003",
   "Dynamic shape of a clown",
   "",
   "",
   [],
   [],
   "",
   1,
   0,
   "arl",
   1,
   0,
   "",
   "clown moves python shape",
   "",
   0
  ],
  [
   "GB9004",
   "Description not available",
   "",
   "",
   [],
   [],
   "",
   -1,
   4,
   "lra",
   -1,
   0,
   "",
   "",
   "",
   0
  ],
  [
   "GB9005",
   "Data-dependent hat & ball",
   "The hat is empty.",
   "‹hat›",
   [
    1
   ],
   [],
   "",
   0,
   0,
   "aal",
   0,
   0,
   "",
   "closed",
   "",
   1
  ]
 ],
 "texts": [
  "Catch it with `torch.where`.",
  "Wait until it is down.",
  "Wait.",
  "Look in the drawer."
 ],
 "placeholders": {}
}
